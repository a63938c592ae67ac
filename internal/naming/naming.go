package naming

import "strings"

// Valid reports whether s can name a role, an instance or a namespace: it becomes part of a NATS
// subject, so letters, digits, - _ = / and dots between them, at most 200 bytes.
func Valid(s string) bool {
	if s == "" || len(s) > 200 || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_=/.", c) >= 0:
		default:
			return false
		}
	}
	return true
}
