// Package bench holds the command "rolectl bench": it measures heartbeats, hand-overs, fail-overs
// and tasks on the server of the user. The bucket and the stream that it makes for that have names
// of their own, and are removed at the end.
//
// Files: bench.go the command · streams.go the bucket and the stream · connection.go the connection
// and its loss · participant.go one process of an election · measure.go what is measured.
package bench
