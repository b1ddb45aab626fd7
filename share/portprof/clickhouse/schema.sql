-- SPDX-License-Identifier: MIT
-- The tables that portprof push writes and portprof fetch reads, for ClickHouse
-- 18.16 and later. Once, on the server:
--
--     clickhouse-client --query 'CREATE DATABASE portprof'
--     clickhouse-client --database portprof --multiquery <schema.sql
--
-- Then: portprof push --to clickhouse+http://HOST:8123/portprof

-- Each stack once a service, by a hash of its frames; the function that was running is
-- the first, inlined functions are frames of their own. A stack that is sent again
-- replaces itself.
CREATE TABLE IF NOT EXISTS stacks
(
    service String,
    stack UInt64,
    functions Array(String),
    modules Array(String),
    seen DateTime
)
ENGINE = ReplacingMergeTree(seen)
ORDER BY (service, stack)
SETTINGS index_granularity = 1024;

-- How many samples of which weight (nanoseconds, or a count) each stack had in the
-- window that began at `time`. `function` and `module` are those that were running.
-- `labels` are texts NAME=VALUE. Rows of one batch and number are the same row: what is
-- sent again replaces itself. `first` is 1 in the first try, of which there is one, and
-- 0 in later ones; where both came, the first stays.
CREATE TABLE IF NOT EXISTS samples
(
    time DateTime,
    service String,     -- LowCardinality(String) from 19.0 on, and below
    host String,
    version String,
    event String,
    unit String,
    process String,
    labels Array(String),
    stack UInt64,
    function String,
    module String,
    samples UInt64,
    weight UInt64,
    batch String,       -- FixedString(33) saves a byte
    row UInt32,
    first UInt8
)
ENGINE = ReplacingMergeTree(first)
PARTITION BY toYYYYMMDD(time)
ORDER BY (service, event, time, host, batch, row);
-- From 19.6 on, to drop what is older than a month:
--   TTL time + INTERVAL 30 DAY
-- Before: ALTER TABLE samples DROP PARTITION 20261101, once a day.

-- The account of each batch, written when its samples are in: `left_out` samples
-- stayed on the host (--except), `lost` were lost while measuring, `dropped`
-- batches of that host never came.
CREATE TABLE IF NOT EXISTS batches
(
    time DateTime,
    host String,
    batch String,
    event String,
    duration_ns UInt64,
    samples UInt64,
    weight UInt64,
    left_out UInt64,
    lost UInt64,
    unattributed UInt64,
    dropped UInt64,
    writer String
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (time, host, batch, event);

-- Who was about to send a batch that no spool remembers, as `portprof push FILE` is: only
-- who finds itself alone here sends it as the first try. Rows are of use as long as a
-- proxy may hold a request; drop them with the samples.
CREATE TABLE IF NOT EXISTS tries
(
    time DateTime,
    batch String,
    try String
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (batch, try);

-- Which function ran how long in each hour: what dashboards ask for. Of first tries, so
-- that nothing is counted twice whenever it arrives; retried_hourly has the others.
CREATE MATERIALIZED VIEW IF NOT EXISTS functions_hourly
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (service, event, hour, function, module, version, host)
AS SELECT
    toStartOfHour(time) AS hour,
    service,
    version,
    host,
    event,
    function,
    module,
    sum(samples) AS samples,
    sum(weight) AS weight
FROM samples
WHERE first = 1
GROUP BY hour, service, version, host, event, function, module;

-- The same of all hosts and versions together: the hottest functions of a week are read
-- from a fiftieth of the rows where there are fifty hosts. A database that is older than
-- this view: what was there before is brought by
--     INSERT INTO services_hourly SELECT service, event, hour, function, module,
--     samples, weight FROM functions_hourly WHERE hour < ...
CREATE MATERIALIZED VIEW IF NOT EXISTS services_hourly
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (service, event, hour, function, module)
AS SELECT
    service,
    event,
    toStartOfHour(time) AS hour,
    function,
    module,
    sum(samples) AS samples,
    sum(weight) AS weight
FROM samples
WHERE first = 1
GROUP BY service, event, hour, function, module;

-- What these two do not have: batches of which the first try never arrived, as its
-- server was away. Usually few or none, so this is found when it is asked for.
CREATE VIEW IF NOT EXISTS retried_hourly
AS SELECT
    hour,
    service,
    version,
    host,
    event,
    function,
    module,
    sum(samples) AS samples,
    sum(weight) AS weight
FROM
(
    SELECT
        any(toStartOfHour(time)) AS hour,
        service,
        any(version) AS version,
        any(host) AS host,
        event,
        any(function) AS function,
        any(module) AS module,
        any(samples) AS samples,
        any(weight) AS weight
    FROM samples
    WHERE (service, event, time) IN (SELECT service, event, time FROM samples WHERE first = 0)
    GROUP BY service, event, batch, row
    HAVING max(first) = 0
)
GROUP BY hour, service, version, host, event, function, module;

-- Several servers. On each the tables above, in the database portprof; and a second
-- database, to which portprof pushes and from which it fetches. A batch stays on one
-- server, chosen by its name, so that it replaces itself there; while that server is away
-- the batch waits in its agent's spool, as portprof asks for insert_distributed_sync (with
-- 18.16, whose inserts ask all servers, all batches do):
--
--   CREATE DATABASE fleet;
--   CREATE TABLE fleet.stacks AS portprof.stacks
--       ENGINE = Distributed(CLUSTER, portprof, stacks, stack);
--   CREATE TABLE fleet.samples AS portprof.samples
--       ENGINE = Distributed(CLUSTER, portprof, samples, cityHash64(batch));
--   CREATE TABLE fleet.batches AS portprof.batches
--       ENGINE = Distributed(CLUSTER, portprof, batches, cityHash64(batch));
--   CREATE TABLE fleet.tries AS portprof.tries
--       ENGINE = Distributed(CLUSTER, portprof, tries, cityHash64(batch));
--
-- Replicas: ReplicatedReplacingMergeTree('/clickhouse/portprof/{shard}/samples',
-- '{replica}') in place of ReplacingMergeTree, and its like for the others. The
-- server then knows a block that is inserted again by itself.
