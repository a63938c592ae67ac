package bundles

import (
	"strconv"
	"strings"
	"unicode"
)

// Most is how many ids a block has, and so how many members a bundle may have.
const Most = 1000

// ID is the id with an index, from 0, in a block of ids. It is also the name of the bundle whose
// first member it is.
func ID(block string, index int) string { return block + "." + strconv.FormatUint(uint64(index), 36) }

// Split says which id of which block an id is. It is false for an id that no client has made.
func Split(id string) (block string, index int, ok bool) {
	at := strings.LastIndexByte(id, '.')
	if at < 1 || !strings.Contains(id[:at], ".") {
		return "", 0, false
	}
	number := id[at+1:]
	n, err := strconv.ParseUint(number, 36, 16)
	if err != nil || n >= Most || n > 0 && number[0] == '0' || n == 0 && number != "0" ||
		strings.ContainsFunc(number, unicode.IsUpper) { // no other text means the same number
		return "", 0, false
	}
	return id[:at], int(n), true
}
