// Package bucket holds the commands "rolectl bucket create", "check", "id", "adopt", "restore" and
// "move". They make the bucket that roles live in, check it, repair in place what can be repaired
// in place, print its id, make a copy a bucket of its own, restore a bucket that was lost, and move
// a bucket to other servers.
package bucket
