// Package bucket holds the commands "rolectl bucket create" and "rolectl bucket check": they make
// the bucket that roles live in, check it, and repair in place what can be repaired in place.
package bucket
