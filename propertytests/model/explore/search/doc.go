// Package search walks through all states of a model, breadth first: the first violation that it
// finds is one of the shortest. The moves that led to it are then played again, and told.
//
// Of a state that was visited it keeps a fingerprint, where it came from and by which move: 20
// bytes, times what the load of the table wastes. States themselves live only between the moment
// they are found and the moment they are left.
//
// A fingerprint that leaves out what matters hides states. So some are looked at closely: a state
// that is met again must lead to states of the same fingerprints as the first one.
package search
