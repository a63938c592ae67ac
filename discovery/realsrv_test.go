package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// envDNS names a dnsmasq, such as that of Debian's package dnsmasq-base.
const envDNS = "ROLEMANAGER_DNSMASQ"

// TestRealSRV: a real name server has servers, has another one, has none, and is gone.
func TestRealSRV(t *testing.T) {
	binary := os.Getenv(envDNS)
	if binary == "" {
		t.Skip("NOT RUN: ", envDNS, " names no dnsmasq: extract one, such as that of Debian's package dnsmasq-base")
	}
	const name = "_nats._tcp.example.org"
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.LocalAddr().(*net.UDPAddr)
	_ = free.Close()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address.String())
	}}
	serve := func(records ...string) (stop func()) {
		args := []string{
			"--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=", "--user=", "--bind-interfaces",
			"--listen-address=127.0.0.1", "--port=" + strconv.Itoa(address.Port), "--local=/example.org/",
			"--txt-record=up.example.org,yes",
		}
		for _, r := range records {
			args = append(args, "--srv-host="+name+","+r)
		}
		server := exec.Command(binary, args...)
		server.Stderr = t.Output()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it answers", time.Minute, func() (bool, string) {
			said, err := resolver.LookupTXT(t.Context(), "up.example.org")
			return len(said) == 1, fmt.Sprint(err)
		})
		return func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		}
	}

	stop := serve("b.example.org,4223,20", "a.example.org,4222,10")
	source := SRV{Name: name, Every: 50 * time.Millisecond, Resolver: resolver}
	list := look(t, source, nil)
	expects(t, list, Server{"nats://a.example.org:4222", ""}, Server{"nats://b.example.org:4223", ""})
	stop()

	stop = serve("c.example.org,4224,10")
	list = waits(t, source, list).result(t)
	expects(t, list, Server{"nats://c.example.org:4224", ""})
	stop()

	stop = serve()
	if _, err := source.Next(bound(t), list); !errors.As(err, new(*LookupError)) {
		t.Errorf("without records: %v", err)
	}
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := source.Next(ctx, list); err == nil {
		t.Error("a server that is gone has changed the list")
	}
}
