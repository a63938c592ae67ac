package fencing

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

const (
	// textVersion begins every encoded token. Another form of the text gets another version.
	textVersion = "rmt1"
	// maxName bounds a role or a holder, in bytes.
	maxName = 512
	// maxText is the longest text that Parse reads: two names with every byte escaped, and the
	// numbers.
	maxText = 2*3*maxName + 128
)

// Encode returns t as text, id included, for headers, flags and files:
// rmt1/<role>/<holder>/<epoch>/<seq>/<id>, with the names escaped as in a URL's path. The text is
// ASCII without spaces. Treat it as a secret: anybody who has it can pass for the holder until the
// term ends.
//
// A token that is not complete (no role, holder, epoch or id; a name that is not UTF-8 or above 512
// bytes) is encoded as "", which [Parse] refuses.
func (t Token) Encode() string {
	if !t.complete() {
		return ""
	}
	b := make([]byte, 0, len(textVersion)+len(t.Role)+len(t.Holder)+64)
	b = append(b, textVersion...)
	b = append(b, '/')
	b = append(b, url.PathEscape(t.Role)...)
	b = append(b, '/')
	b = append(b, url.PathEscape(t.Holder)...)
	b = append(b, '/')
	b = strconv.AppendUint(b, t.Epoch, 10)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(t.Seq), 10)
	b = append(b, '/')
	b = append(b, t.id.value.String()...)
	return string(b)
}

// Parse reads only a text that [Token.Encode] wrote: each token has exactly one text. Its errors
// are [ErrSyntax] and never repeat the text, since the text may hold the id.
func Parse(text string) (Token, error) {
	if len(text) > maxText {
		return Token{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrSyntax, len(text), maxText)
	}
	version, rest, _ := strings.Cut(text, "/")
	if version != textVersion {
		return Token{}, fmt.Errorf("%w: want the text of Encode, which begins with %s/", ErrSyntax, textVersion)
	}
	fields := strings.Split(rest, "/")
	if len(fields) != 5 {
		return Token{}, fmt.Errorf("%w: %d fields after the version, want 5", ErrSyntax, len(fields))
	}
	role, errRole := url.PathUnescape(fields[0])
	holder, errHolder := url.PathUnescape(fields[1])
	epoch, errEpoch := strconv.ParseUint(fields[2], 10, 64)
	seq, errSeq := strconv.ParseUint(fields[3], 10, 32)
	id, errID := uuid.Parse(fields[4])
	for i, err := range []error{errRole, errHolder, errEpoch, errSeq, errID} {
		if err != nil {
			return Token{}, fmt.Errorf("%w: bad %s", ErrSyntax, [...]string{"role", "holder", "epoch", "seq", "id"}[i])
		}
	}
	// The parts above accept more than one spelling (leading zeros, needless escapes, a UUID in
	// braces). One spelling per token means that texts can be compared, and that nothing else can
	// be hidden in a text.
	t := NewToken(role, holder, epoch, uint32(seq), id)
	if t.Encode() != text {
		return Token{}, fmt.Errorf("%w: incomplete, or not in the form that Encode writes", ErrSyntax)
	}
	return t, nil
}

func (t Token) complete() bool {
	return t.presentable() && t.Holder != "" && t.id != nil &&
		len(t.Role) <= maxName && len(t.Holder) <= maxName && utf8.ValidString(t.Role) && utf8.ValidString(t.Holder)
}
