//! The stable error codes, one table for code and documentation alike.
//!
//! Clients branch on these words, so a code is never renamed or reused. The reference page in the
//! book is generated from [`ErrorCode::ALL`].

macro_rules! codes {
    ($($variant:ident = $word:literal: $sentence:literal,)*) => {
        /// A stable `UPPER_SNAKE` word that names what went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $sentence] $variant,)* }

        impl ErrorCode {
            /// Every code, in the order of the reference page.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that goes over the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// One sentence that says what the code means and what to do.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

codes! {
    InvalidRequest = "INVALID_REQUEST": "The arguments do not fit the tool's schema or contradict each other; the message names the field.",
    NoResolver = "NO_RESOLVER": "No source of this kind is installed; the message lists the kinds that are.",
    NotFound = "NOT_FOUND": "Nothing exists at the path; the message lists the closest existing names.",
    PermissionDenied = "PERMISSION_DENIED": "The operating system refused access to the path.",
    UnsupportedContent = "UNSUPPORTED_CONTENT": "The content is not of a kind that this operation can show or edit.",
    UnsupportedRange = "UNSUPPORTED_RANGE": "The offset or limit does not apply to this content or lies outside it.",
    UnsupportedView = "UNSUPPORTED_VIEW": "The view does not apply to this source.",
    ReadFailed = "READ_FAILED": "The operating system failed while reading; the message carries its reason.",
    InvalidPattern = "INVALID_PATTERN": "The search pattern does not parse; the message gives the column.",
    StaleAnchor = "STALE_ANCHOR": "The anchored text has changed, or was never shown to this session; fresh anchors follow.",
    MissingText = "MISSING_TEXT": "The exact text does not occur in the source.",
    AmbiguousText = "AMBIGUOUS_TEXT": "The exact text occurs more than once; candidates follow.",
    UnknownAnchor = "UNKNOWN_ANCHOR": "The anchor names nothing in this source.",
    StaleReference = "STALE_REFERENCE": "A source behind the result or search reference has changed since; read or search again.",
    UnknownReference = "UNKNOWN_REFERENCE": "No result or search of this session has that id.",
    ExpiredReference = "EXPIRED_REFERENCE": "The reference was dropped to stay within memory bounds; read or search again for a fresh one.",
    AlteredReference = "ALTERED_REFERENCE": "The text under a result envelope is not what was returned; pass the unchanged result or its id alone.",
    IncompleteSelection = "INCOMPLETE_SELECTION": "The selection is not complete and so cannot authorise an edit.",
    NoSelection = "NO_SELECTION": "The result selects no editable text.",
    OverlappingEdits = "OVERLAPPING_EDITS": "Two edits touch the same text; both spans are shown.",
    PrefixedText = "PREFIXED_TEXT": "The new text carries displayed line prefixes or a result envelope; pass the bare text.",
    UnencodableText = "UNENCODABLE_TEXT": "The new text has a character that the file's encoding cannot hold.",
    UnseenOverwrite = "UNSEEN_OVERWRITE": "The file exists and this session has not seen its current text; repeat the identical call or read it first.",
    ReadOnly = "READ_ONLY": "The file or its folder is read-only.",
    FileChanged = "FILE_CHANGED": "The file changed between planning and writing; nothing was lost, try again.",
    NotAFile = "NOT_A_FILE": "The path is not a regular file.",
    LinkLoop = "LINK_LOOP": "The path runs in a loop of symbolic links.",
    NoSpace = "NO_SPACE": "The disk or quota is full; nothing was changed.",
    WriteFailed = "WRITE_FAILED": "The operating system failed while writing; the message says what state each file is in.",
    GuardDenied = "GUARD_DENIED": "A guard refused the edit; the message says which and why.",
    LimitExceeded = "LIMIT_EXCEEDED": "The request is larger than a documented bound.",
    Cancelled = "CANCELLED": "The call was cancelled; nothing was changed by it unless a receipt says so.",
    TimedOut = "TIMED_OUT": "The call ran out of time; the message says what was covered.",
    ModuleDisabled = "MODULE_DISABLED": "The module that serves this is switched off in the configuration.",
    InvalidConfig = "INVALID_CONFIG": "A configuration file has a mistake; the message names file, line and key.",
    NoWorkspace = "NO_WORKSPACE": "The session has no workspace root; name one in the connection or open a session.",
    UnknownSession = "UNKNOWN_SESSION": "No open session has that id.",
    Unsupported = "UNSUPPORTED": "The operation is not supported on this source.",
    ShuttingDown = "SHUTTING_DOWN": "The daemon is stopping and takes no new calls.",
    Internal = "INTERNAL": "A fault of Capstan itself; the call had no other effect than the message says.",
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
