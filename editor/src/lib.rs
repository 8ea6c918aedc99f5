//! Plans edits in memory and commits them atomically: the only writer of user files.
