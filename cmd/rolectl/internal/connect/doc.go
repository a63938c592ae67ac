// Package connect finds out where NATS is and as whom to go there, in the way of the nats tool, and goes there within a
// time limit.
//
//	flag ──▶ environment ──▶ context ──▶ default        the first that says something counts, field by field
//
// A context is a file that the nats tool has written: ~/.config/nats/context/<name>.json, below XDG_CONFIG_HOME where that
// is set. The one named by --context or NATS_CONTEXT is used, else the selected one (~/.config/nats/context.txt), else none.
//
// Promises: a server that is not there costs no more than the time limit, whatever the number of addresses; no error
// repeats a password.
//
// Files: settings.go what flags and environment say · natscontext.go contexts · options.go what it means for a
// connection · dial.go the connection · dialer.go its limits · explain.go why there is none.
package connect
