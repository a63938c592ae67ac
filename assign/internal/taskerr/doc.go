// Package taskerr holds the errors that the parts of package assign share.
//
// Package assign exports each sentinel again, with its documentation for users. Only the text and
// the identity of an error are defined here.
//
// An error's text names the package assign once: [Doing] and [Permission] drop the prefix of the
// error that they wrap.
package taskerr
