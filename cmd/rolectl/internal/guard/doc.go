// Package guard holds the command "rolectl guard": it runs a program, and frees the roles of the
// program as soon as the program has died.
package guard
