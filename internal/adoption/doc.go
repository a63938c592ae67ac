// Package adoption makes a copy of a bucket, or one that was restored, a bucket of its own: it ends
// every session, removes every record, and raises the revisions above all that were ever given.
//
//  1. It marks the bucket.
//  2. It revokes every lease.
//  3. It waits for L_max.
//  4. It purges the bucket to a floor.
//  5. It gives the bucket a new identity.
//
// A process that is cut off trusts its session for at most L_max, and it may hold a role that
// nobody can see after the purge. So three things keep two leaders apart. Nobody opens the bucket
// while it is marked. A lease that is revoked is not dead to others: they wait for it, as for one
// that cannot be read. And a process that opens an adopted bucket takes no role for free before
// L_max.
//
// A restoration is an adoption that begins before the bucket is there. It creates the missing
// bucket already marked, with the configuration that a backup names, and brings back no record:
// every one would be removed again. So at no moment can a process open the bucket in the state of
// the backup, and be given an epoch that was given since. A bucket that exists is never removed for
// it.
//
// An adoption that is interrupted leaves the mark, and the next one begins with the first step. Of
// two at a time the later one counts, and the other one fails. If its purge is under way then, it
// removes nothing of the adopted bucket: the later floor is the higher one.
package adoption
