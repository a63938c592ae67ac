package discovery

import "testing"

// FuzzLists: whatever a file or a service says, the list is usable or refused, and stays the same
// when it is read again.
func FuzzLists(f *testing.F) {
	f.Add("nats://a:4222 west\nb")
	f.Add("::") // an IPv6 address without brackets
	f.Add(`[{"Node":{"Address":"a"},"Service":{"Port":4222,"Meta":{"zone":"z"}}}]`)
	f.Add(`{"header":{"revision":"7"},"kvs":[{"key":"YQ==","value":"YSB6"}]}`)
	f.Add(`{"kind":"EndpointSliceList","metadata":{"resourceVersion":"7"},"items":[{"ports":[{"port":4222}],` +
		`"endpoints":[{"addresses":["::1"],"zone":"z","conditions":{"ready":null}},{"addresses":["a"],"hostname":"h"}]}]}`)
	f.Add(`{"type":"ERROR"}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readLeaders([]byte(text))
		for _, err := range []error{err, readWatch([]byte(text)), readEvent([]byte(text))} {
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%d bytes", len(err.Error()))
			}
		}
		for _, read := range []func() ([]Server, error){
			func() ([]Server, error) { return readLines(text) },
			func() ([]Server, error) { return readConsul([]byte(text), "") },
			func() ([]Server, error) { list, _, err := readRange([]byte(text)); return list, err },
			func() ([]Server, error) {
				list, _, err := Kubernetes{Service: "s", Domain: "d"}.readSlices([]byte(text))
				return list, err
			},
		} {
			list, err := read()
			if err != nil {
				continue
			}
			list, err = Normal(list)
			if err != nil {
				continue
			}
			again, err := Normal(list)
			if err != nil || !Same(list, again) {
				t.Errorf("%v is %v when it is read again: %v", list, again, err)
			}
		}
	})
}

// FuzzParse: a text names a source or is refused.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a,b", "file:///x?every=1s", "srv://a?scheme=tls", "consul://a:1/nats?dc=x&tls=1&ca=/none",
		"k8s://a/b:1?api=b&tokenfile=/none&domain=c",
		"etcd://a:1,[::1]/nats?user=x&passfile=/none",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); err == nil && s == nil {
			t.Error("no source and no error")
		}
	})
}
