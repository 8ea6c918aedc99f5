//! Tells what a crash leaves of a write from what somebody else wrote.

/// Power loss keeps or loses whole sectors.
const BLOCK_BYTES: usize = 512;

/// Whether `found` can be what is left of writing `new` over one of `olds` (none for a new file):
/// block by block it is new, old, or zeros where only the length reached the disk. One block may be
/// cut in the middle, new before old, where the writer was stopped.
pub(super) fn explains(found: &[u8], new: &[u8], olds: &[&[u8]]) -> bool {
    let longest = olds.iter().map(|old| old.len()).chain([new.len()]).max().unwrap_or(0);
    if found.len() > longest {
        return false;
    }
    let old = |block: &[u8], at| olds.iter().any(|old| padded(block, tail(old, at)));
    let mut cuts = 0;
    for (at, block) in found.chunks(BLOCK_BYTES).enumerate() {
        let start = at * BLOCK_BYTES;
        let new = tail(new, start);
        let whole = padded(block, new) || old(block, start) || block.iter().all(|byte| *byte == 0);
        if whole {
            continue;
        }
        cuts += 1;
        let split = block.iter().zip(new).take_while(|(a, b)| a == b).count();
        if cuts > 1 || !old(&block[split..], start + split) {
            return false;
        }
    }
    true
}

/// Whether `block` is `content` as far as that goes, then zeros.
fn padded(block: &[u8], content: &[u8]) -> bool {
    let len = block.len().min(content.len());
    block[..len] == content[..len] && block[len..].iter().all(|byte| *byte == 0)
}

fn tail(content: &[u8], start: usize) -> &[u8] {
    content.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_write_are_torn() {
        let (new, old) = ([b'n'; 2_000], [b'o'; 1_500]);
        assert!(explains(b"", &new, &[]), "only the name reached the disk");
        assert!(explains(&new[..700], &new, &[]));
        assert!(explains(&[0; 2_000], &new, &[]));
        assert!(explains(&[&new[..512], &[0; 1_488]].concat(), &new, &[]));
        assert!(explains(&[&new[..700], &old[700..]].concat(), &new, &[&old]));
        assert!(explains(&[&new[..1_000], &old[1_000..], &[0; 500]].concat(), &new, &[&old]));
        assert!(explains(&[&old[..512], &new[512..1_024], &old[1_024..]].concat(), &new, &[&old]));
    }

    #[test]
    fn what_somebody_wrote_is_not() {
        let (new, old) = ([b'n'; 2_000], [b'o'; 1_500]);
        assert!(!explains(b"their text", &new, &[&old]));
        assert!(!explains(&[&new[..], b"more"].concat(), &new, &[&old]));
        let mut edited = new;
        edited[900] = b'x';
        assert!(!explains(&edited, &new, &[&old]));
        let two_cuts = [&new[..100], &old[100..600], &new[600..700], &old[700..]].concat();
        assert!(!explains(&[&two_cuts[..512], b"x", &two_cuts[513..]].concat(), &new, &[&old]));
    }
}
