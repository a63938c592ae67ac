package stores

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// Kind is what a child that is a store is called.
const Kind = "store"

type config struct {
	Kind   string
	Dir    string
	Synced bool
	Member *member // of a cluster, nil for one server
}

// server is a store in the child.
type server interface {
	addr() string
	traffic() (Traffic, error)
}

// Serve is the life of a child that is a store.
func Serve(_ context.Context, text json.RawMessage, _ *proc.Line) (proc.Calls, error) {
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	var s server
	var err error
	switch c.Kind {
	case "nats":
		s, err = serveNATS(c)
	case "etcd":
		s, err = serveEtcd(c)
	case "kube":
		s, err = serveKube()
	default:
		err = fmt.Errorf("no store %q", c.Kind)
	}
	if err != nil {
		return nil, err
	}
	return proc.Calls{
		"addr":    func(context.Context, json.RawMessage) (any, error) { return s.addr(), nil },
		"traffic": func(context.Context, json.RawMessage) (any, error) { return s.traffic() },
	}, nil
}

type embedded struct {
	*proc.Child
	address string
	dir     string
}

func startEmbedded(kind string, synced bool) (Store, error) {
	dir, err := os.MkdirTemp("", "peers-"+kind)
	if err != nil {
		return nil, err
	}
	child, err := proc.Start(Kind, config{Kind: kind, Dir: dir, Synced: synced}, nil)
	if err != nil {
		_ = os.RemoveAll(dir) // it is of no use
		return nil, err
	}
	e := &embedded{Child: child, dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := child.Call(ctx, "addr", nil, &e.address); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *embedded) Addr() string { return e.address }

func (e *embedded) Traffic(ctx context.Context) (t Traffic, err error) {
	err = e.Call(ctx, "traffic", nil, &t)
	return t, err
}

func (e *embedded) Close() {
	e.Kill() // nobody needs what it keeps
	_ = os.RemoveAll(e.dir)
}
