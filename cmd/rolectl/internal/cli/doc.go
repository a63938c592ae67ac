// Package cli is what all commands of rolectl share: the global flags and the connection, checks of
// arguments and flags, exit codes, errors as documents, questions to the user, completion, and the
// dry run.
//
//	App ── GlobalFlags ──▶ Connect, ConnectFor, WithServer     one connection for each run of the program
//	    ── Printer, Say                                        data on stdout, notes on stderr
//	    ── EndWhenUnread                                       commands that only look end when their reader is gone
//
// Every command returns an error. CodeOf turns the error into an exit code, and ErrorDocument turns
// it into JSON with a code word that does not change when the message does.
//
// Promises: a flag or an argument that makes no sense is refused when it is read, and is never
// corrected silently. A dry run prints the requests that the command would really send, because it
// records them.
package cli
