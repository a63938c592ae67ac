// Package testbinary compiles the tests of a package once, and plays them again and again.
//
// Promises:
//   - A run that is interrupted ends with all processes that it has started, and its error is that
//     of the context.
//   - The temporary folder of a run is in the folder of the binary.
package testbinary
