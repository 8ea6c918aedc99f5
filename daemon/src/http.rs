//! The HTTP door: MCP's streamable HTTP for both eras, on loopback, behind a token.
//!
//! A stateless request (2026-07-28) is one `POST` with its own [`Peer`]; a client of the handshake
//! era is known by its `Mcp-Session-Id`. Both reach the same dispatcher as the socket. Nothing is
//! served before the `Host`, `Origin` and token checks have passed.
//!
//! [`Peer`]: crate::server::peer::Peer

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::limits::{FLUSH_TIMEOUT, MAX_HTTP_CONNECTIONS, MAX_HTTP_REQUESTS};
use crate::server::{Phase, Server};

pub mod guard;
pub mod headers;
pub mod listener;
pub mod post;
pub mod sessions;
pub mod stream;
pub mod token;

pub use token::Token;

use sessions::Sessions;

/// What the handlers share.
pub(crate) struct Door {
    pub server: Arc<Server>,
    pub sessions: Sessions,
    token: Token,
    /// Places for `POST` bodies that are read or answered.
    places: Arc<Semaphore>,
}

/// Binds a loopback address; port 0 picks a free one.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for an address that other machines could reach, or what the
/// system says.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let reason =
            format!("`{address}` is not a loopback address; use `127.0.0.1:{}`", address.port());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    TcpListener::bind(address).await
}

/// Serves `/mcp` until the server closes, and then the answers that are on their way.
///
/// # Errors
/// When the listener breaks for good.
pub async fn serve(server: Arc<Server>, listener: TcpListener, token: Token) -> io::Result<()> {
    server.set_http(Some(format!("http://{}/mcp", listener.local_addr()?)));
    let door = Arc::new(Door {
        server: Arc::clone(&server),
        sessions: Sessions::default(),
        token,
        places: Arc::new(Semaphore::new(MAX_HTTP_REQUESTS)),
    });
    let closing = {
        let server = Arc::clone(&server);
        async move { server.drain().reached(Phase::Closing).await }
    };
    let limited = listener::Limited::new(listener, MAX_HTTP_CONNECTIONS);
    let served = axum::serve(limited, router(&door)).with_graceful_shutdown(closing);
    let overdue = async {
        server.drain().reached(Phase::Closing).await;
        // Else their streams would never end.
        door.sessions.leave();
        tokio::time::sleep(FLUSH_TIMEOUT).await;
    };
    let outcome = tokio::select! {
        outcome = served.into_future() => outcome,
        () = overdue => Ok(()),
    };
    server.set_http(None);
    outcome
}

/// The routes, guarded.
fn router(door: &Arc<Door>) -> Router {
    Router::new()
        .route("/mcp", axum::routing::any(mcp))
        .layer(middleware::from_fn_with_state(Arc::clone(door), check))
        .with_state(Arc::clone(door))
}

/// Lets only loopback hosts, loopback pages and token holders through, in this order: a page of
/// another origin does not even learn whether its token is right.
async fn check(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    match guard::check(request.headers(), &door.token) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// One request to `/mcp`.
async fn mcp(State(door): State<Arc<Door>>, request: Request) -> Response {
    let modern = headers::is_modern(request.headers());
    match *request.method() {
        Method::POST => post(&door, request).await,
        Method::GET if !modern => door.sessions.stream(request.headers()),
        Method::DELETE if !modern => door.sessions.end(request.headers()),
        _ => {
            let allow = if modern { "POST" } else { "POST, GET, DELETE" };
            (StatusCode::METHOD_NOT_ALLOWED, [("allow", allow)]).into_response()
        }
    }
}

async fn post(door: &Arc<Door>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = headers::check_media(&parts.headers) {
        return refusal.into_response();
    }
    let Ok(_place) = Arc::clone(&door.places).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let body = match axum::body::to_bytes(body, protocol::names::MAX_LINE_BYTES).await {
        Ok(body) => body,
        Err(_) => return too_large(),
    };
    post::route(door, &parts.headers, &body).await
}

fn too_large() -> Response {
    let reason = format!(
        "the body is longer than {} bytes, or broke off\n",
        protocol::names::MAX_LINE_BYTES
    );
    (StatusCode::PAYLOAD_TOO_LARGE, Body::from(reason)).into_response()
}

#[cfg(test)]
mod tests;
