package stores

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresProgram finds a program of PostgreSQL, which Debian keeps out of the path, the newest
// version first.
func postgresProgram(name string) (string, error) {
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(all) > 0 {
		return slices.Max(all), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL (%s): %w", name, ErrMissing)
	}
	return path, nil
}

// postgresUser is who PostgreSQL runs as: it refuses to as root.
func postgresUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres: %w", ErrMissing)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// postgresSettings give the memory that its handbook advises for a machine of this size, and no
// other tuning. Data that are not synced are written before they are acknowledged, as in the other
// stores; synchronous_commit=off would acknowledge before that, and sync five times a second.
// According to the handbook, whole pages in the log are useless without fsync.
func postgresSettings(synced bool) []string {
	room := []string{"max_connections=200", "shared_buffers=1GB", "max_wal_size=4GB"}
	if synced {
		return append(room, "synchronous_commit=on", "fsync=on")
	}
	return append(room, "synchronous_commit=on", "fsync=off", "full_page_writes=off")
}

func startPostgres(synced bool) (Store, error) {
	program, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	cred, err := postgresUser()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "peers-postgres")
	if err != nil {
		return nil, err
	}
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	init := exec.Command(initdb, "-D", data, "-U", "peers", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
	init.Dir, init.SysProcAttr = dir, &syscall.SysProcAttr{Credential: cred}
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	address, port, err := freeAddr()
	if err != nil {
		return nil, err
	}
	args := []string{"-D", data, "-h", "127.0.0.1", "-p", port, "-k", dir}
	for _, set := range postgresSettings(synced) {
		args = append(args, "-c", set)
	}
	x, err := run(dir, address, cred, program, args...)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(30 * time.Second); ; { // it listens before it takes anybody
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		nc, err := pgx.Connect(ctx, "postgres://peers@"+address+"/postgres?sslmode=disable")
		if err == nil {
			err = nc.Close(ctx)
		}
		cancel()
		if err == nil {
			return x, nil
		}
		if time.Now().After(end) {
			x.Close()
			return nil, fmt.Errorf("PostgreSQL takes nobody: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
