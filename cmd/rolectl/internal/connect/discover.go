package connect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/discovery"
)

// discovered looks the servers up once, and returns their URLs.
func (s Settings) discovered(within time.Duration) (string, error) {
	if s.Server != "" {
		return "", fmt.Errorf("both --server and --discover: give one of them")
	}
	source, err := discovery.Parse(s.Discover)
	if err != nil {
		return "", fmt.Errorf("--discover: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	list, err := source.Next(ctx, nil)
	if ctx.Err() != nil {
		return "", fmt.Errorf("--discover: no answer within %v (--timeout): check the address of the service", within)
	}
	if err != nil {
		return "", fmt.Errorf("--discover: %w", err)
	}
	urls := make([]string, len(list))
	for i, server := range list {
		urls[i] = server.URL
	}
	return strings.Join(urls, ","), nil
}
