package natskv

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// A mere question is asked again while nobody answers. If all answers come at once, before any is
// read, the first one counts, and the connection has room for all of them.
func TestAQuestionIsAskedAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const asks = int(answerWithin / askAgainAfter)
		var asked []*nats.Msg // belongs to the subscription
		if _, err := natstest.Connect(t, s).Subscribe("slow", func(m *nats.Msg) {
			if asked = append(asked, m); len(asked) < asks {
				return
			}
			for i, m := range asked {
				if err := m.Respond(fmt.Append(nil, i)); err != nil {
					t.Error(err)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		natstest.Settle(t) // the server knows who answers
		ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
		defer cancel()
		last := time.Now().Add(time.Duration(asks-1) * askAgainAfter) // when it is asked for the last time
		time.AfterFunc(time.Until(last)-askAgainAfter/2, func() { link.Hold(natsrun.ToClient) })
		time.AfterFunc(time.Until(last)+askAgainAfter/2, link.Release)
		m, err := exchange(ctx, nc, Reach{}, "slow", nil)
		if err != nil || string(m.Data) != "0" {
			t.Fatalf("got %+v, %v", m, err)
		}
		if late := time.Since(last); late != askAgainAfter/2 {
			t.Errorf("the answer came %v after the last question", late)
		}
		natstest.Settle(t)
		if err := nc.LastError(); err != nil {
			t.Errorf("the connection complains: %v", err)
		}
	})
}

// A question ends when its connection is closed or its caller gives up, even if it would wait
// longer for its answer.
func TestAQuestionThatIsNotAnsweredEnds(t *testing.T) {
	for name, x := range map[string]struct {
		end  func(nc *nats.Conn, giveUp func())
		want error
	}{
		"connection closed": {func(nc *nats.Conn, _ func()) { nc.Close() }, nats.ErrConnectionClosed},
		"caller gone":       {func(_ *nats.Conn, giveUp func()) { giveUp() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *Bucket, nc *nats.Conn, _ *natsrun.Link) {
				if _, err := nc.SubscribeSync("silent"); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
				defer cancel()
				start := time.Now()
				ended := make(chan error, 1)
				go func() {
					_, err := exchange(ctx, nc, Reach{}, "silent", []byte("{}"))
					ended <- err
				}()
				natstest.Settle(t) // it waits for the answer
				x.end(nc, cancel)
				err := <-ended
				if took := time.Since(start); !errors.Is(err, x.want) || took != 0 {
					t.Errorf("got %v after %v", err, took)
				}
			})
		})
	}
}
