// Package view is what the watches of one process have shown of the bucket. It knows no machine: an
// observer has a view too. It does no I/O and has no clock.
//
// Entries merge by revision. A view never goes back by itself: it tells its owner when the store
// has lost what was known (Regressed), and when another watch is needed to find out (AskAgain).
//
// The owner of a view may keep notes beside each peer and each role. Their types are the parameters
// P and R.
package view
