//go:build linux

package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

const serverKind = "server"

// traffic is what the server has received and sent. Seizing are writes of roles, and of the lease
// of the first member of the host "leader": once that one is dead, attempts to end its session.
type traffic struct{ In, Out, Writes, Seizing int64 }

// serveServer is the life of a server, with file storage in a temporary directory.
func serveServer(context.Context, json.RawMessage, *proc.Line) (proc.Calls, error) {
	s, err := natsrun.Start(natsrun.Options{Listen: true})
	if err != nil {
		return nil, err
	}
	nc, err := s.Connect()
	if err != nil {
		return nil, err
	}
	// Attempts too: a write is an ordinary message, whether the stream takes it or not.
	var writes, seizing atomic.Int64
	if _, err := nc.Subscribe("$KV.roles.>", func(m *nats.Msg) {
		writes.Add(1)
		if strings.HasPrefix(m.Subject, "$KV.roles.c.role.") || m.Subject == "$KV.roles.c.lease.leader-0" {
			seizing.Add(1)
		}
	}); err != nil {
		return nil, err
	}
	if err := nc.Flush(); err != nil {
		return nil, err
	}
	return proc.Calls{
		"addr": func(context.Context, json.RawMessage) (any, error) {
			return strings.TrimPrefix(s.URL(), "nats://"), nil
		},
		"traffic": func(context.Context, json.RawMessage) (any, error) {
			v, err := s.Running().Varz(nil)
			if err != nil {
				return nil, err
			}
			w := writes.Load() // what was sent to the counter of writes is not counted
			return traffic{v.InMsgs, v.OutMsgs - w, w, seizing.Load()}, nil
		},
		"stored": func(context.Context, json.RawMessage) (any, error) {
			v, err := s.Running().Jsz(nil)
			if err != nil {
				return nil, err
			}
			return v.Store, nil
		},
		"close": func(context.Context, json.RawMessage) (any, error) { return nil, s.Shutdown() },
	}, nil
}
