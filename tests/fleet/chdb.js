// SPDX-License-Identifier: MIT
// The engine of a current ClickHouse, in this process (npm's chdb), behind as much of
// its HTTP interface as portprof uses: ?database=&query=, a body that may be packed.
// chdb.js FOLDER: FOLDER/port has its port.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');
const { Session } = require('chdb');

const folder = process.argv[2];
const session = new Session(folder + '/data');

function answer(request, body) {
	const url = new URL(request.url, 'http://localhost');
	const database = url.searchParams.get('database') || 'default';
	let query = url.searchParams.get('query') || '';

	if (request.headers['content-encoding'] === 'gzip')
		body = zlib.gunzipSync(body);
	if (body.length)
		query += (query ? '\n' : '') + body.toString();
	session.query('USE `' + database + '`', 'TabSeparated');
	// what comes back here is text
	if (/ FORMAT RowBinary$/.test(query)) {
		fs.rmSync(folder + '/binary', { force: true });
		session.query(query.replace(/ FORMAT RowBinary$/,
			" INTO OUTFILE '" + path.resolve(folder, 'binary') + "'$&"), 'Null');
		return fs.readFileSync(folder + '/binary');
	}
	return session.query(query, 'TabSeparated');
}

const server = http.createServer((request, response) => {
	const parts = [];

	request.on('data', (part) => parts.push(part));
	request.on('end', () => {
		try {
			response.end(answer(request, Buffer.concat(parts)));
		} catch (error) {
			response.statusCode = 500;
			response.end(String(error.message || error) + '\n');
		}
	});
});

server.listen(0, '127.0.0.1', () => {
	fs.writeFileSync(folder + '/port.new', String(server.address().port));
	fs.renameSync(folder + '/port.new', folder + '/port');
});
