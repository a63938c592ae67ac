package record

import "testing"

func TestHeadersOf(t *testing.T) {
	for text, want := range map[string]string{`{"a":"b"}`: "b", "": "", "no": "", `{"a":1}`: ""} {
		if got := HeadersOf(text)["a"]; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
