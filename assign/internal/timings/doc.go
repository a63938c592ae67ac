// Package timings keeps how long the tasks of each kind have waited and run lately, in memory that
// is bounded: percentiles of it are part of what a scheduler tells in its overview. It knows
// neither the rules nor the connection.
package timings
