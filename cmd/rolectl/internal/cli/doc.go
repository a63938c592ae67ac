// Package cli is what all commands of rolectl share: the global flags and the connection, checks of
// arguments and flags, exit codes, errors as documents, questions to the user, and completion.
//
// An App has the streams, the environment and the global flags of one run of the program, its
// connection, and a Printer. Data goes to stdout, and notes go to stderr. Commands that only read
// end when the reader of their output is gone.
//
// Every command returns an error. CodeOf turns the error into an exit code, and ErrorDocument turns
// it into JSON with a code word that does not change when the message does.
//
// Promises: a flag or an argument that makes no sense is refused when it is read, and is never
// corrected silently.
package cli
