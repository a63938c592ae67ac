package naming

import "strings"

// Valid reports whether s can name a role, an instance or a namespace: it becomes part of a NATS
// subject, so letters, digits, - _ = / and dots between them, at most 200 bytes.
func Valid(s string) bool {
	if s == "" || len(s) > 200 || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	return consists(s, "-_=/.")
}

// Word reports whether s can name a bucket or a namespace of tasks: letters, digits, - and _, at
// most as many as longest.
func Word(s string, longest int) bool { return s != "" && len(s) <= longest && consists(s, "-_") }

// consists reports whether s has no bytes but letters, digits and others.
func consists(s, others string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(others, c) >= 0:
		default:
			return false
		}
	}
	return true
}
