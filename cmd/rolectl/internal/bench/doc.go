// Package bench holds the command "rolectl bench": it measures heartbeats, hand-overs, fail-overs
// and tasks on the server of the user. The bucket and the stream that it makes for that have names
// of their own, and are removed at the end.
package bench
