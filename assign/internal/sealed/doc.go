// Package sealed puts the codec of a program around inputs, outputs and checkpoints: it marks what
// is sealed, with the id of the key, and binds it to its task and to what it is.
package sealed
