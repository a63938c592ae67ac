// Package bucket holds the commands "rolectl bucket create", "check" and "id": they make the bucket
// that roles live in, check it, repair in place what can be repaired in place, and print its id.
package bucket
