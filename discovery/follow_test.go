package discovery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// script is a source that answers in turn, and then blocks.
type script struct {
	answers []func(ctx context.Context, last []Server) ([]Server, error)
	at      []time.Time // of the calls
	lasts   [][]Server
}

func (s *script) Next(ctx context.Context, last []Server) ([]Server, error) {
	i := len(s.at)
	s.at, s.lasts = append(s.at, time.Now()), append(s.lasts, last)
	if i < len(s.answers) {
		return s.answers[i](ctx, last)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func is(urls ...string) func(context.Context, []Server) ([]Server, error) {
	return func(context.Context, []Server) (list []Server, err error) {
		for _, u := range urls {
			list = append(list, Server{URL: u})
		}
		return list, nil
	}
}

func fails(err error) func(context.Context, []Server) ([]Server, error) {
	return func(context.Context, []Server) ([]Server, error) { return nil, err }
}

// TestFollow: whatever a look-up does, the last list stays, each trouble is told once, and the
// pauses grow.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		late := func(ctx context.Context, _ []Server) ([]Server, error) {
			return nil, pause(ctx, time.Hour)
		}
		source := &script{answers: []func(context.Context, []Server) ([]Server, error){
			fails(down), is("a"), fails(down), fails(down), fails(down), is(), is(), is("nats://a:4222"), is("http://x"),
			fails(down), is("b", "a"), is("b"), fails(down), func(ctx context.Context, last []Server) ([]Server, error) {
				if _, err := late(ctx, last); err != nil {
					return nil, err
				}
				return nil, down
			},
		}}
		var told []string
		var lists [][]Server
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- Follow(ctx, source, FollowOptions{
				Changed: func(list []Server) { lists = append(lists, list) },
				Failed:  func(err error) { told = append(told, err.Error()) },
			})
		}()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		a, b := Server{"nats://a:4222", ""}, Server{"nats://b:4222", ""}
		if want := [][]Server{{a}, {a, b}, {b}}; !slices.EqualFunc(lists, want, slices.Equal) {
			t.Errorf("lists %v, want %v", lists, want)
		}
		bad := (&AddressError{"http://x", "use nats://host:port, or tls, ws or wss"}).Error()
		if want := []string{"down", "down", ErrEmpty.Error(), bad, "down", "down", "down"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if n := len(source.at); n != len(source.answers)+1 {
			t.Errorf("%d calls", n)
		}
		for i := 3; i < 10; i++ { // a row of failures, the third call begins at once
			d := source.at[i].Sub(source.at[i-1])
			most := min(500*time.Millisecond<<(i-3), 30*time.Second) * 3 / 2
			if d < 250*time.Millisecond || d > most {
				t.Errorf("pause %d is %v, at most %v", i, d, most)
			}
			if !Same(source.lasts[i], []Server{a}) {
				t.Errorf("call %d has the last list %v", i, source.lasts[i])
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended by %v", err)
		}
	})
}
