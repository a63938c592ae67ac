// Package exporter holds the command "rolectl exporter": it serves what an observer sees of a
// bucket as Prometheus metrics.
package exporter
