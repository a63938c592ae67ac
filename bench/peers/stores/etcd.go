package stores

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

type etcdServer struct {
	address string
	count   counter
}

// serveEtcd runs a cluster of one.
func serveEtcd(c config) (server, error) {
	s := &etcdServer{}
	cfg := embed.NewConfig()
	cfg.Dir, cfg.LogLevel, cfg.UnsafeNoFsync = c.Dir, "error", !c.Synced
	var client, peer string
	for _, at := range []*string{&client, &peer} {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free, and will be in a moment
		if err != nil {
			return nil, err
		}
		*at = l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	s.address = client
	one := func(at string) []url.URL { return []url.URL{{Scheme: "http", Host: at}} }
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = one(client), one(client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = one(peer), one(peer)
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.QuotaBackendBytes, cfg.MaxConcurrentStreams = 4<<30, 1<<20
	cfg.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.StatsHandler(&s.count)}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.Server.ReadyNotify():
		return s, nil
	case err := <-e.Err():
		return nil, err
	case <-time.After(30 * time.Second):
		return nil, fmt.Errorf("etcd is not ready")
	}
}

func (s *etcdServer) addr() string { return s.address }

func (s *etcdServer) traffic() (Traffic, error) {
	c := &s.count
	return Traffic{c.in.Load(), c.out.Load(), c.bytesIn.Load(), c.bytesOut.Load(), c.writes.Load(), c.writes.Load()}, nil
}

// counter counts the messages of all calls and streams.
type counter struct{ in, out, bytesIn, bytesOut, writes atomic.Uint64 }

type method struct{}

func (c *counter) TagRPC(ctx context.Context, i *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, method{}, i.FullMethodName)
}

func (c *counter) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InPayload:
		c.in.Add(1)
		c.bytesIn.Add(uint64(s.WireLength))
		switch ctx.Value(method{}) {
		case "/etcdserverpb.KV/Txn", "/etcdserverpb.KV/Put", "/etcdserverpb.KV/DeleteRange":
			c.writes.Add(1)
		}
	case *stats.OutPayload:
		c.out.Add(1)
		c.bytesOut.Add(uint64(s.WireLength))
	}
}

func (c *counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *counter) HandleConn(context.Context, stats.ConnStats)                       {}
