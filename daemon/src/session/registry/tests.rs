use super::*;

fn registry() -> SessionRegistry {
    SessionRegistry::new(Box::new(|_| SessionState::default()))
}

fn open(registry: &SessionRegistry, root: &str, session: Option<&str>) -> Opened {
    let request = OpenRequest { root: Some(root.into()), session: session.map(str::to_owned) };
    registry.open(request).expect("the request is fine")
}

#[test]
fn root_and_name_find_the_same_session() {
    let registry = registry();
    let first = open(&registry, "/a", Some("cli"));
    let again = open(&registry, "/a", Some("cli"));
    let elsewhere = open(&registry, "/b", Some("cli"));
    let anonymous = open(&registry, "/a", None);
    assert_eq!((first.new, again.new, elsewhere.new, anonymous.new), (true, false, true, true));
    assert_eq!(first.session.id(), again.session.id());
    assert_eq!(registry.list().len(), 3);
}

#[test]
fn an_id_attaches_and_checks_the_root() {
    let registry = registry();
    let id = open(&registry, "/a", None).session.id();
    let text = Some(id.to_string());
    let attached =
        registry.open(OpenRequest { root: None, session: text.clone() }).expect("it is open");
    assert!(!attached.new);
    let other = OpenRequest { root: Some("/b".into()), session: text.clone() };
    assert_eq!(registry.open(other).expect_err("another root").code(), ErrorCode::InvalidRequest);
    assert!(registry.close(id).is_some());
    let gone = registry.open(OpenRequest { root: None, session: text }).expect_err("it was closed");
    assert_eq!(gone.code(), ErrorCode::UnknownSession);
}

#[test]
fn the_longest_idle_session_makes_room_and_used_ones_stay() {
    let registry = registry();
    let bound = open(&registry, "/bound", None).session.bind();
    let idle = open(&registry, "/idle", None).session.id();
    for at in 2..MAX_SESSIONS {
        open(&registry, &format!("/{at}"), None);
        if at == 2 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    let last = open(&registry, "/last", None);
    assert_eq!(last.evicted.map(|session| session.id()), Some(idle));
    assert!(registry.get(bound.session().id()).is_some());
    assert_eq!(registry.list().len(), MAX_SESSIONS);
}
