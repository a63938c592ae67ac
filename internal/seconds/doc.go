// Package seconds writes durations into JSON as numbers of seconds: rolectl, /status and the page
// show them so. Records that processes store have units of their own, and so have messages between
// processes.
package seconds
