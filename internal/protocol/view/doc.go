// Package view is what the watches of one process have shown of the bucket. It knows no machine: an observer has a view too.
// It does no I/O and has no clock.
//
//	Deliver, Merge, BeginWatch, EndSnapshot ──► View ──► News: what has changed, and notices for people
//
// Entries merge by revision. A view never goes back by itself: it tells its owner when the store has lost what was known
// (Regressed), and when another watch is needed to find out (AskAgain).
//
// The owner of a view may keep notes beside each peer and each role. Their types are the parameters P and R.
//
// Files: view.go (peers, roles, who is dead), merge.go (taking entries in), watch.go (what is known of a watch), regression.go
// (a store that has lost something), succession.go (who claims next), schedule.go (what is due when), notice.go (notices).
package view
