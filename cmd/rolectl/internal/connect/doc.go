// Package connect finds out where NATS is and which user to connect as, as the nats tool does, and
// connects within a time limit. Each value comes from a flag, else from the environment, else from
// the context, else it is the default.
//
// A context is a file that the nats tool has written: ~/.config/nats/context/<name>.json, below
// XDG_CONFIG_HOME where that is set. The one named by --context or NATS_CONTEXT is used, else the
// selected one (~/.config/nats/context.txt), else none.
//
// Promises: an unreachable server costs no more than the time limit, for any number of addresses.
// No error repeats a password.
package connect
