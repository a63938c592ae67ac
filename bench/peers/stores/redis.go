package stores

import (
	"fmt"
	"os"
	"os/exec"
)

func startRedis(synced bool) (Store, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("redis-server: %w", ErrMissing)
	}
	dir, err := os.MkdirTemp("", "peers-redis")
	if err != nil {
		return nil, err
	}
	address, port, err := freeAddr()
	if err != nil {
		return nil, err
	}
	return run(dir, address, nil, program,
		"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync",
		redisFsync(synced))
}

func redisFsync(synced bool) string {
	if synced {
		return "always"
	}
	return "no"
}
