package adoption_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

const stream = "KV_" + bucket

// TestRestoredBucket: the sequence of the manual for a backup: stop the members, remove the bucket,
// restore it, adopt it. Terms began after the backup, and one leader was not stopped: it is cut off
// until all is over. No two terms are valid at once, and epochs continue above all that were given.
func TestRestoredBucket(t *testing.T) {
	for name, forgotten := range map[string]bool{"all stopped": false, "the leader cut off": true} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				f, operator := newFleet(t, s), natstest.Connect(t, s)
				first := f.start("first")
				early := f.led("somebody leads", 0)
				b := backUp(t, operator)
				first()
				link := s.Link()
				last := f.start("last", append(link.Options(), nats.MaxReconnects(-1),
					nats.ReconnectWait(50*time.Millisecond), nats.PingInterval(time.Second), nats.ReconnectBufSize(-1))...)
				late := f.led("somebody leads after the backup", early.Epoch()+1)
				if forgotten {
					link.Cut()
				} else {
					last()
				}
				js, err := jetstream.New(operator)
				if err != nil {
					t.Fatal(err)
				}
				if err := js.DeleteStream(t.Context(), stream); err != nil {
					t.Fatal(err)
				}
				b.restore(t, operator)
				result, err := adoption.Run(t.Context(), adoption.Config{Conn: operator, Bucket: bucket})
				if err != nil {
					t.Fatal(err)
				}
				if result.Floor <= late.Epoch() {
					t.Errorf("floor %d after epoch %d, which is not in the backup", result.Floor, late.Epoch())
				}
				f.start("next")
				f.led("somebody leads the restored bucket", result.Floor)
				link.Heal()
				time.Sleep(3 * ttl)
				f.check()
			})
		})
	}
}

// snapshot is a backup of a stream, as the server sends it.
type snapshot struct {
	Config json.RawMessage     `json:"config"`
	State  json.RawMessage     `json:"state"`
	Error  *jetstream.APIError `json:"error,omitempty"`
	chunks [][]byte
}

func ask(t *testing.T, nc *nats.Conn, subject string, question []byte, answer any) {
	t.Helper()
	m, err := nc.Request(subject, question, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		t.Fatalf("%s: %s: %v", subject, m.Data, err)
	}
}

func backUp(t *testing.T, nc *nats.Conn) (b snapshot) {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	ask(t, nc, "$JS.API.STREAM.SNAPSHOT."+stream, []byte(`{"deliver_subject":"`+inbox+`","no_consumers":true}`), &b)
	if b.Error != nil {
		t.Fatal(b.Error)
	}
	for {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Data) == 0 {
			if len(b.chunks) == 0 {
				t.Fatal("the backup is empty")
			}
			return b
		}
		b.chunks = append(b.chunks, m.Data)
		if m.Reply == "" { // few are unanswered at a time
			continue
		}
		if err := m.Respond(nil); err != nil {
			t.Fatal(err)
		}
	}
}

// restore brings it back. The server removes the folder of an account after its last stream, and a
// restoration that comes at that very moment is refused: then it is tried again, as a person would.
func (b snapshot) restore(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for range 30 {
		refused := b.tryToRestore(t, nc)
		if refused == nil {
			return
		}
		if refused.ErrorCode != restoreFailed {
			t.Fatal(refused)
		}
		time.Sleep(time.Second)
	}
	t.Fatal("the server does not restore it")
}

const restoreFailed = 10062

func (b snapshot) tryToRestore(t *testing.T, nc *nats.Conn) *jetstream.APIError {
	t.Helper()
	question, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var to struct {
		Subject string              `json:"deliver_subject"`
		Error   *jetstream.APIError `json:"error"`
	}
	ask(t, nc, "$JS.API.STREAM.RESTORE."+stream, question, &to)
	if to.Error != nil {
		return to.Error
	}
	for _, chunk := range b.chunks {
		if _, err := nc.Request(to.Subject, chunk, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	var done struct {
		Error *jetstream.APIError `json:"error"`
	}
	ask(t, nc, to.Subject, nil, &done)
	return done.Error
}
