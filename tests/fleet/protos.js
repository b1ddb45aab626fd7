// SPDX-License-Identifier: MIT
// The services of Pyroscope, Parca and OpenTelemetry from their published protos, by the
// libraries of those who publish them: Connect, gRPC-web, and JSON as Parca's gateway
// takes it. A field that a proto does not have is an error.
// protos.js FOLDER PROTOS: FOLDER/port has the port, FOLDER/N.json what the N-th request
// said, FOLDER/N.M.pb.gz its profiles. PROTOS has a folder for each: pyroscope, parca,
// opentelemetry. Who asks for a profile gets FOLDER/answer.pb.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');
const protobufjs = require('protobufjs');
const descriptor = require('protobufjs/ext/descriptor');
const bufbuild = require('@bufbuild/protobuf');
const wkt = require('@bufbuild/protobuf/wkt');
const { connectNodeAdapter } = require('@connectrpc/connect-node');

const [folder, protos] = process.argv.slice(2);
const roots = { pyroscope: 'pyroscope/api', parca: 'parca/proto',
	opentelemetry: 'opentelemetry' };

// What a file imports only for annotations may be missing.
function load(files, of) {
	const root = new protobufjs.Root();

	root.resolvePath = (from, name) => {
		const at = path.join(protos, roots[of], name);

		return fs.existsSync(at) || !/annotations|gnostic/.test(name) ? at : null;
	};
	root.loadSync(files, { keepCase: true });
	root.resolveAll();
	const set = root.toDescriptor('proto3');
	const whole = (scope, name) => root.lookup(scope).lookup(name).fullName;
	const qualify = (scope, message) => {
		const own = root.lookup(scope);

		for (const field of (message.field || []).filter((one) => one.typeName)) {
			const known = own && own.fields && own.fields[field.name];

			// entries of maps are in the descriptor alone
			field.typeName = known && known.resolvedType && !known.map
				? known.resolvedType.fullName
				: own ? '.' + scope + '.' + field.typeName
				: whole(scope.replace(/\.[^.]*$/, ''), field.typeName);
		}
		for (const nested of message.nestedType || [])
			qualify(scope + '.' + nested.name, nested);
	};
	for (const file of set.file) {
		for (const message of file.messageType || [])
			qualify(file.package + '.' + message.name, message);
		for (const service of file.service || [])
			for (const method of service.method) {
				method.inputType = whole(file.package, method.inputType);
				method.outputType = whole(file.package, method.outputType);
			}
	}
	// a file for each package, behind those that it needs
	const sorted = [], seen = new Set();
	const visit = (file) => {
		if (seen.has(file))
			return;
		seen.add(file);
		const text = JSON.stringify(file);
		const needed = set.file.filter((other) => other.name !== file.name &&
			(text.includes('Type":".' + other.package + '.') ||
			 text.includes('typeName":".' + other.package + '.')));

		needed.forEach(visit);
		file.dependency = needed.map((other) => other.name);
		sorted.push(file);
	};
	set.file.forEach(visit);
	set.file = sorted;
	return bufbuild.createFileRegistry(bufbuild.fromBinary(
		wkt.FileDescriptorSetSchema,
		descriptor.FileDescriptorSet.encode(set).finish()));
}

const pyroscope = load(['push/v1/push.proto', 'querier/v1/querier.proto'], 'pyroscope');
const parca = load(['parca/profilestore/v1alpha1/profilestore.proto',
	'parca/query/v1alpha1/query.proto'], 'parca');
const otlp = load(['opentelemetry/proto/collector/profiles/v1development/' +
	'profiles_service.proto'], 'opentelemetry');

// Whatever no field has.
function unknown(message, where) {
	if (!message || typeof message !== 'object' || message instanceof Uint8Array)
		return [];
	return Object.entries(message).flatMap(([name, value]) => name === '$unknown'
		? (value || []).map((field) => where + ': field ' + field.no)
		: unknown(value, where + '.' + name));
}

let count = 0;
function keep(what, message, profiles) {
	const wrong = unknown(message, what);
	const number = String(++count).padStart(4, '0');

	if (wrong.length)
		throw new Error(wrong.join('; '));
	profiles.forEach((profile, at) => fs.writeFileSync(
		path.join(folder, number + '.' + at + '.pb.gz'), profile));
	fs.writeFileSync(path.join(folder, number + '.json'),
		JSON.stringify({ what, message }, (name, value) =>
			typeof value === 'bigint' ? value.toString()
			: value instanceof Uint8Array ? value.length
			: name[0] === '$' ? undefined : value));
}

const raw = (series) => series.flatMap((one) => one.samples.map((sample) =>
	sample.rawProfile));
const answer = () => fs.readFileSync(path.join(folder, 'answer.pb'));

function routes(router) {
	router.service(pyroscope.getService('push.v1.PusherService'), {
		push(request) {
			keep('pyroscope push', request, raw(request.series));
			return {};
		},
	});
	router.service(pyroscope.getService('querier.v1.QuerierService'), {
		selectMergeProfile(request) {
			keep('pyroscope query', request, []);
			return bufbuild.fromBinary(
				pyroscope.getMessage('google.v1.Profile'),
				zlib.gunzipSync(answer()));
		},
	});
	router.service(parca.getService('parca.query.v1alpha1.QueryService'), {
		query(request) {
			keep('parca query', request, []);
			return { report: { case: 'pprof', value: answer() } };
		},
	});
}

function by_hand(request, body) {
	if (request.url === '/api/profiles/writeraw') {
		const message = bufbuild.fromJsonString(parca.getMessage(
			'parca.profilestore.v1alpha1.WriteRawRequest'), body.toString());

		keep('parca push', message, raw(message.series));
		return '{}';
	}
	if (request.url === '/v1development/profiles') {
		const service = 'opentelemetry.proto.collector.profiles.v1development.';
		const message = bufbuild.fromBinary(otlp.getMessage(
			service + 'ExportProfilesServiceRequest'), body);

		keep('otlp push', message, []);
		return bufbuild.toBinary(otlp.getMessage(
			service + 'ExportProfilesServiceResponse'), bufbuild.create(
			otlp.getMessage(service + 'ExportProfilesServiceResponse')));
	}
	return null;
}

const connect = connectNodeAdapter({ routes,
	fallback: (request, response) => {
		const parts = [];

		request.on('data', (part) => parts.push(part));
		request.on('end', () => {
			try {
				const said = by_hand(request, Buffer.concat(parts));

				response.statusCode = said === null ? 404 : 200;
				response.end(said || '');
			} catch (error) {
				response.statusCode = 400;
				response.end(String(error.message || error) + '\n');
			}
		});
	} });

const server = http.createServer(connect);
server.listen(0, '127.0.0.1', () => {
	fs.writeFileSync(path.join(folder, 'port.new'), String(server.address().port));
	fs.renameSync(path.join(folder, 'port.new'), path.join(folder, 'port'));
});
