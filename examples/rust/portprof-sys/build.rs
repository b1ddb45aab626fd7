// SPDX-License-Identifier: MIT
// Where libportprof is: in PORTPROF_LIB_DIR, or where pkg-config says.
use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PORTPROF_LIB_DIR");
    println!("cargo:rustc-link-lib=portprof");
    if let Ok(dir) = env::var("PORTPROF_LIB_DIR") {
        println!("cargo:rustc-link-search=native={dir}");
        return;
    }
    let found = Command::new("pkg-config")
        .args(["--variable=libdir", "portprof"])
        .output()
        .ok()
        .filter(|output| output.status.success());
    match found {
        Some(output) => println!(
            "cargo:rustc-link-search=native={}",
            String::from_utf8_lossy(&output.stdout).trim()
        ),
        None => println!(
            "cargo:warning=pkg-config knows no portprof: install \
             libportprof-dev, or set PORTPROF_LIB_DIR"
        ),
    }
}
