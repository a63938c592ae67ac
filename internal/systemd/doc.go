// Package systemd tells the service manager of this process what its session does, over the socket
// that NOTIFY_SOCKET names: that it is ready, which roles it leads, that its loop runs, and that it
// needs more time to drain.
//
// A library does not take that socket by itself, since a process has one: the program says so.
package systemd
