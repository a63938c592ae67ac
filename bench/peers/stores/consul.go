package stores

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
)

// ConsulProgram is consul, or what ROLEMANAGER_CONSUL names. Errors: ErrMissing.
func ConsulProgram() (string, error) {
	program, err := exec.LookPath(cmp.Or(os.Getenv("ROLEMANAGER_CONSUL"), "consul"))
	if err != nil {
		return "", fmt.Errorf("consul: %w", ErrMissing)
	}
	return program, nil
}

// startConsul starts a server that keeps everything in memory.
func startConsul() (Store, error) {
	program, err := ConsulProgram()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "peers-consul")
	if err != nil {
		return nil, err
	}
	address, port, err := freeAddr()
	if err != nil {
		return nil, err
	}
	args := []string{
		"agent", "-dev", "-bind", "127.0.0.1", "-http-port", port, "-dns-port", "-1", "-grpc-port", "-1", "-serf-wan-port",
		"-1", "-log-level", "warn", "-hcl", "skip_leave_on_interrupt = true", "-hcl", "disable_update_check = true",
	}
	for _, of := range []string{"-server-port", "-serf-lan-port"} {
		_, port, err := freeAddr()
		if err != nil {
			return nil, err
		}
		args = append(args, of, port)
	}
	return run(dir, address, nil, program, args...)
}
