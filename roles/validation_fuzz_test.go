package roles

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzURL: any text for the URL of servers is accepted, or is refused as a fault of that field. The
// fault repeats no part of the text, which may hold a password. An accepted text names a host for
// each server.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"nats://a:4222", "a", "a, tls://b:1 ,c", "nats://u:p@a", "u:p@a", "nats://u:se,cret@a", "nats://[::1]:4222", "::1",
		"nats://", "nats://:4222", ",", " ", "nats://%zz", "nats://a b", "a://b://c", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var err error
		heap.Bounded(t, len(text), func() { err = Config{URL: text}.validateConnection() })
		fault := (*ConfigError)(nil)
		if err != nil &&
			(!errors.As(err, &fault) || fault.Field != "URL" || len(text) > 20 && strings.Contains(err.Error(), text)) {
			t.Fatalf("%q: %v", text, err)
		}
		if text == "" && err == nil {
			t.Fatal("no server, and it is taken")
		}
		if _, wrong := url.Parse(text); strings.Contains(text, "://") && !strings.Contains(text, ",") && wrong != nil &&
			err == nil && strings.TrimSpace(text) == text {
			t.Fatalf("%q is taken: %v", text, wrong)
		}
	})
}
