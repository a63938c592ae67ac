package connect

import "testing"

func TestAnAddressShowsNoSecret(t *testing.T) {
	for url, want := range map[string]string{
		"nats://a:4222":                          "nats://a:4222",
		"nats://u:p@a:4222, tls://token@b":       "nats://a:4222, tls://b",
		"u:p@a":                                  "a",
		"nats://u:se,cret@a":                     "…, a",
		"u:s,e,cret@a:4222":                      "…, …, a:4222",
		"nats://u:123,rest@a":                    "…, a",
		"nats://a:4222,nats://u:p@b:4222,c:4222": "nats://a:4222, nats://b:4222, c:4222",
		"nats://a:port":                          "nats://a:port",
	} {
		var target Target
		target.URL = url
		if got := target.Address(); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

func TestABracketIsNoHost(t *testing.T) {
	for url, want := range map[string]bool{
		"a": true, "[::1]": true, "[::1]:4222": true, "]": false, "a]:1": false,
		"nats://a]": false,
	} {
		if dialable(url) != want {
			t.Errorf("%s can be dialled: %v", url, !want)
		}
	}
}
