// Package before has the programs that the guides to migrate begin with, so that they are compiled.
package before
