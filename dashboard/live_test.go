package dashboard

import (
	"bufio"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestStreamsOutliveQuiet: a stream in which nothing changes lives longer than the time that a
// reader has to read, and than the timeouts of the server, over HTTP/1.1 and HTTP/2.
func TestStreamsOutliveQuiet(t *testing.T) {
	t.Parallel()
	const deadline = time.Second
	s := open(t, natstest.Server(t), nil)
	s.h.writeWithin = deadline
	for version := 1; version <= 2; version++ {
		server := httptest.NewUnstartedServer(s.h)
		server.EnableHTTP2 = version == 2
		server.Config.ReadTimeout, server.Config.WriteTimeout = deadline, deadline
		server.StartTLS()
		defer server.Close()
		defer s.h.Close() // which ends the streams
		answer, err := server.Client().Get(server.URL + "/live?view=/events%3Frole=billing")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.ProtoMajor != version {
			t.Errorf("it speaks %s", answer.Proto)
		}
		live := &stream{t: t, reader: bufio.NewReader(answer.Body)}
		live.until(`"id":"main"`)
		time.Sleep(deadline + deadline/2)
		s.h.hub.add(happening{Time: time.Now(), Change: "leader", Role: "billing", Member: "after-the-quiet-" + answer.Proto})
		live.until("after-the-quiet-" + answer.Proto)
	}
}
