// Package natsconn makes a shared NATS connection safe for a loop that must not block.
//
//	loop ──► Sender ──► connection        sends in order, from a goroutine of its own
//	     ──► Within, Soon                 calls that may hang while the peer's TCP is frozen
//	     ──► Subscribe, WatchDenials      what the server denies, which looks like silence
//	     ──► Refused                  a server does not know the user, or no longer
//	     ──► UntilReconnect               for requests that a lost connection never answers
//
// The package knows no records or subjects of this module. It changes no handler of the connection.
package natsconn
