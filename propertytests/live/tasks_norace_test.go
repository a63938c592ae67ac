//go:build !race

package live_test

// boundaryStep: at every so-many-th write a scheduler is lost.
const boundaryStep = 1
