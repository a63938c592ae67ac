package natskv

import "testing"

// TestLetterLetsGo: nothing of a large write stays in memory with a letter that small ones follow.
func TestLetterLetsGo(t *testing.T) {
	var l letter
	l.begin(&Write{Key: "a", Value: []byte("v"), Header: []Field{{"A", "large"}, {"B", "large"}}}, place{prefix: "s."})
	l.begin(&Write{Key: "b"}, place{prefix: "s."})
	l.end()
	for _, v := range l.values[:cap(l.values)] {
		if v != "" {
			t.Errorf("it keeps %q", v)
		}
	}
	if len(l.Header) > 0 || l.Data != nil {
		t.Errorf("it keeps %v, %q", l.Header, l.Data)
	}
}
